export { freshDatabase, type FreshDatabase, type FreshDatabaseOptions } from "./database/fresh-database.js";
export { etcdIsInstalled, startEtcd, type EtcdServer } from "./etcd/etcd-server.js";
export { TcpProxy, type TcpProxyOptions } from "./proxy/tcp-proxy.js";
export { ReplicatedPostgres, type ReplicatedPostgresOptions } from "./standby/replicated-postgres.js";
