import { minPasswordLength } from "#api/accounts/passwords.ts";

export const passwordHint = `${minPasswordLength} characters or more; a few words are fine.`;
