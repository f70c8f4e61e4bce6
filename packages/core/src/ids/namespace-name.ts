/** Names of namespaces: they are part of headers, and of names elsewhere. */
export const namespaceNamePattern = "^[a-z0-9][a-z0-9._-]{0,62}$";
