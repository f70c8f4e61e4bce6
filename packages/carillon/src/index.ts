export { ApiError, type Client, type ClientOptions, createClient, ServerUnreachable } from "@carillon/client";
