"""A step of the build of this site: names and options in the text are not broken at their hyphens."""

import re
from typing import Any

NAME = re.compile(r"<code>([^<\s]{1,40})</code>")


def on_page_content(html: str, **_: Any) -> str:
    """Mark inline code without spaces; `stylesheets/tables.css` keeps it in one piece."""
    return NAME.sub(r'<code class="whole">\1</code>', html)
