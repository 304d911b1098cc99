"""Office formats: DOCX, PPTX, spreadsheets and OpenDocument."""
