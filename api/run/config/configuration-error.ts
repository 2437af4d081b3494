/** Exit code of a configuration error (EX_CONFIG of sysexits.h). A restart does not help. */
export const configurationExitCode = 78;

/** All problems of a configuration, one line per setting, as text for operators. */
export class ConfigurationError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${problems.map((line) => `  ${line}`).join("\n")}`);
    this.name = "ConfigurationError";
    this.problems = problems;
  }
}
