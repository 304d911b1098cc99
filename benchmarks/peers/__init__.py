"""Other engines, measured on what twofold is measured on."""
