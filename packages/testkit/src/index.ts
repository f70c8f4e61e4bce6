export { freshDatabase, type FreshDatabase, type FreshDatabaseOptions } from "./database/fresh-database.js";
export { TcpProxy, type TcpProxyOptions } from "./proxy/tcp-proxy.js";
