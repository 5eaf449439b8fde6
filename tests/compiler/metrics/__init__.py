"""Tests metrics and reports: they are typed, lowered to SQL, and run on generated measurements."""
