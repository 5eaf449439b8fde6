client "load" {
  hosts = "load.lab"
  tool  = ycsb("/opt/ycsb")
}

database "mongo" {
  engine = mongodb
  uri    = "mongodb://hosts/ycsb"
}
