"""The library page: installed models, models to download, models of other apps, downloads."""
