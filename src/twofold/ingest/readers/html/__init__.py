"""HTML: content as blocks, without menus, scripts and hidden parts."""
