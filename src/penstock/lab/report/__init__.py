"""What is shown: the pictures of claims, and pages that stand alone in one file."""
