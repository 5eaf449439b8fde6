"""The runners' sentences: reasons of failures, remarks, and facts that are texts."""
