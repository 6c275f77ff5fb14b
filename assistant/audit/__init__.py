"""The tamper evidence of the audit log: signed checkpoints beside the database, verification, and export."""
