"""The glue to AWS Lambda: environment, wiring, logging, queues."""
