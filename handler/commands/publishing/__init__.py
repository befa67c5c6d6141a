"""The publishing of endpoints: checks, the plan and its writes, and the endpoints published at a destination."""
