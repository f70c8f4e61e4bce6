/** A connection URL fit to be shown: the password between user and host, and one given as a parameter, become ***. */
export function maskUrl(url: string): string {
  return url.replace(/^(\w+:\/\/[^:@/?#]*):.*@/, "$1:***@").replace(/([?&](?:password|sslpassword)=)[^&]*/gi, "$1***");
}
