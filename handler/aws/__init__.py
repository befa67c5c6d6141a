"""AWS without boto3: signed requests, and services that speak JSON."""
