"""What runs jobs: the runs themselves, the driver of handlers, Huey's worker threads, the scheduler above them."""
