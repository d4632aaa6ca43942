"""The billing service of a small marketplace: orders, subscriptions, sellers and what they are owed."""
