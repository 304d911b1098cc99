"""Text of pictures: scanned pages and image files, read by PP-OCRv6 where the extra `ocr` is installed."""
