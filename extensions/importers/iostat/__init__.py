"""The importer of iostat's reports, as text or JSON."""
