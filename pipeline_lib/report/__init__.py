"""How do tables become claims, figures and one page? Nothing here trains; everything reads what the jobs wrote."""
