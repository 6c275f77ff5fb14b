"""The queue of jobs: on PostgreSQL by procrastinate, for all processes; beside SQLite inside the one process."""
