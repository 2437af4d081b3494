import { z } from "zod";

/** Comma-separated words of at most so many characters together: a longer text is refused before it is taken apart. */
export const commaList = (maxLength: number) =>
  z.string().transform((text, context): string[] => {
    if (text.length <= maxLength) return text.split(",");
    context.addIssue({ code: "custom", message: `must be at most ${maxLength} characters long` });
    return z.NEVER;
  });
