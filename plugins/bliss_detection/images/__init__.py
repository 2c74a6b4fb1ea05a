"""Images with image-level labels: folders in VOC layout, and generated scenes."""
