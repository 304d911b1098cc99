"""PDF: lines, paragraphs, headings and tables with their places on the page."""
