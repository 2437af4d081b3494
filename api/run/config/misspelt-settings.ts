import { nearestName } from "#api/http/query.ts";
import { Environment } from "./environment.ts";

const known = Object.keys(Environment.shape);

/** The first two words of settings that have more: no other program has them in common with us by chance. */
const families = new Set(
  known.flatMap((name) => {
    const words = name.split("_");
    return words.length > 2 ? [words.slice(0, 2).join("_")] : [];
  }),
);

/** What Kubernetes tells a process of its services, whatever these are called. */
const ofService =
  /_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/** Few: the environment is full of others' variables, and the shortest names are too near to them. */
const changesOf = (letters: number) => Math.floor(letters / 6);

/** Variables that look like settings and are none: what they were to change would stay as it is. */
export function misspeltSettings(named: Record<string, string>): string[] {
  return Object.keys(named).flatMap((name) => {
    if (known.includes(name) || ofService.test(name)) return [];
    const meant = nearestName(name, known, changesOf);
    if (meant !== undefined && meant.length > shortest)
      return [`${name}: there is no such setting; did you mean ${meant}?`];
    const [first = "", second = ""] = name.split("_");
    if (!families.has(`${first}_${second}`)) return [];
    const others = known.filter((one) => one.startsWith(`${first}_${second}`));
    return [`${name}: there is no such setting; settings like it are ${others.join(", ")}`];
  });
}

/** `HOST`, `PORT`: a shell's own variables differ from them by case alone. */
const shortest = 4;
