import { longestDays } from "../accounts/sessions.ts";

/**
 * The cookie that holds a session's token. Behind https its name binds it to this very host: no other host of the
 * domain can set it.
 */
export function sessionCookie(baseUrl: string) {
  const isSecure = baseUrl.startsWith("https:");
  const name = isSecure ? "__Host-session" : "session";
  const write = (value: string, seconds: number) =>
    [
      `${name}=${value}`,
      "Path=/",
      `Max-Age=${seconds}`,
      "HttpOnly",
      "SameSite=Lax",
      ...(isSecure ? ["Secure"] : []),
    ].join("; ");
  return {
    /** The token that a request brings; nothing where it brings two. */
    read(header: string | undefined): string | null {
      const values = (header ?? "")
        .split(";")
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${name}=`))
        .map((pair) => pair.slice(name.length + 1));
      return values.length === 1 ? (values[0] ?? null) : null;
    },
    keep: (token: string) => write(token, longestDays * 86_400),
    forget: () => write("", 0),
  };
}

export type SessionCookie = ReturnType<typeof sessionCookie>;
