"""What people look at: tables, drawings, the figure for a paper, the interactive pages."""
