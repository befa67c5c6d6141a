"""The publishing of endpoints: checks, the plan and its writes, and what is published at a destination."""
