"""Bundles in a folder or in S3."""
