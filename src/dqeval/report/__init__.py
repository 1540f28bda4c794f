"""What results look like to people."""
