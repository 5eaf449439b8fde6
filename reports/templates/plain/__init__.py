"""The bare page that all templates extend."""
