"""What the API takes and answers, as JSON: a module for each resource."""
