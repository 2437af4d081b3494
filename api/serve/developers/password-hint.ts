import { shortestPassword } from "../accounts/passwords.ts";

export const passwordHint = `${shortestPassword} characters or more; a few words are fine.`;
