"""What strangers who keep within all limits cost honest bots, by every kind of request that a server answers."""
