"""How two statements are compared: quantities, dates, modality, wording; what conflicts are found with."""
