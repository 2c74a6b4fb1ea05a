"""Every error that a user can fix. Each message says what happened, to which thing, what is allowed, what to do."""


class BlissError(Exception):
    """An error that the user can fix; the console prints its text alone and exits with 1."""


class DataError(BlissError, ValueError):
    """The data cannot be used as they are: shapes, missing values, bags, weak labels."""


class SettingsError(BlissError, ValueError):
    """A setting has a value that is not allowed; the message names the setting."""


class UnknownNameError(BlissError, ValueError):
    """No component, data set or option has this name; the message offers the nearest ones."""


class PluginError(BlissError, RuntimeError):
    """A plugin broke one of its contracts; the message names the plugin or component.

    Attributes:
        kind: of the component that broke its contract during label inference ("reward", "strategy", "regime"), or None.
    """

    kind: str | None = None


class RewardError(PluginError, ValueError):
    """A reward returned something other than one number in [0, 1] for each training instance."""


class MissingExtraError(BlissError, ImportError):
    """A feature needs a package that is not installed; the message holds the pip command."""


class BlissWarning(UserWarning):
    """A result that should be read with care: collapse, a reward that was never informed, a baseline that wins."""


class RunError(BlissError, RuntimeError):
    """A run directory cannot be written, read or resumed."""
