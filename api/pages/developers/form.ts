import { type Html, html } from "../kit/html.ts";

type Field = {
  readonly name: string;
  readonly label: string;
  readonly type?: "text" | "email" | "password" | "date";
  readonly value?: string;
  readonly autocomplete: string;
  readonly hint?: string;
  /** Error message, shown at the field, which then gets the focus. */
  readonly error?: string | undefined;
  readonly hasFocus?: boolean;
  readonly isOptional?: boolean;
};

/** A labelled field. Errors are shown by the page, so the form switches off the browser's own validation messages. */
export function field(options: Field): Html {
  const { name, label, type = "text", value = "", autocomplete, hint, error, hasFocus } = options;
  const { isOptional = false } = options;
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(" ");
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}"${!isOptional && html` required`}${
    described !== "" && html` aria-describedby="${described}"`
  }${error && html` aria-invalid="true"`}${(error || hasFocus) && html` autofocus`}${
    type !== "text" && html` spellcheck="false" autocapitalize="none"`
  }>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${errorOf(name, error)}
</div>`;
}

/** The message at a field, which names it as its description. */
const errorOf = (name: string, error: string | undefined) =>
  error && html`<p class="error" id="${name}-error" role="alert">${error}</p>`;

type Choice = {
  readonly name: string;
  readonly label: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
  readonly chosen: string;
  readonly error?: string | undefined;
};

/** A labelled choice of one. */
export function choice({ name, label, choices, chosen, error }: Choice): Html {
  return html`<div class="field">
<label for="${name}">${label}</label>
<select id="${name}" name="${name}"${error && html` aria-describedby="${name}-error" aria-invalid="true" autofocus`}>
${choices.map(([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`)}
</select>
${errorOf(name, error)}
</div>`;
}

/** A message above a form, for errors that belong to no single field. */
export const alert = (message: string | undefined): Html | undefined =>
  message === undefined ? undefined : html`<p class="alert" role="alert">${message}</p>`;

export const notice = (message: string | undefined): Html | undefined =>
  message === undefined ? undefined : html`<p class="notice" role="status">${message}</p>`;

type ButtonOptions = {
  readonly kind?: "plain" | "danger" | "primary";
  readonly about?: string;
  /** A file answers it. */
  readonly downloads?: boolean;
};

/** A form with a single button, for signed-in users. */
export function buttonForm(
  action: string,
  formToken: string,
  label: string,
  { kind = "plain", about, downloads = false }: ButtonOptions = {},
): Html {
  return html`<form method="post" action="${action}"${downloads && html` data-downloads`}><input type="hidden" name="form" value="${formToken}"><button class="${kind}">${label}${about && html`<span class="unseen"> ${about}</span>`}</button></form>`;
}

/** A button with a confirmation, for actions that break programs in use. */
export function confirmForm(
  action: string,
  formToken: string,
  options: { label: string; about: string; warning: string; kind?: "danger" | "primary" },
): Html {
  const { label, about, warning, kind = "danger" } = options;
  return html`<details class="sure"><summary class="button">${label}<span class="unseen"> ${about}</span></summary><div><p>${warning}</p>${buttonForm(action, formToken, label, { kind, about })}</div></details>`;
}

/** A time in UTC. */
export function timeTag(date: Date | null, otherwise = "never"): Html {
  if (date === null) return html`<span class="quiet">${otherwise}</span>`;
  const text = date.toISOString();
  return html`<time datetime="${text}">${text.slice(0, 16).replace("T", " ")}</time>`;
}

/** The same to the second. */
export const secondTag = (date: Date): Html =>
  html`<time datetime="${date.toISOString()}">${date.toISOString().slice(0, 19).replace("T", " ")}</time>`;

/** A code of an authenticator program, or where there is none of the recovery codes. */
export const codeField = (name: string, error?: string, hasProgram = true): Html =>
  field({
    name,
    label: hasProgram ? "Code" : "Recovery code",
    autocomplete: "one-time-code",
    hint: hasProgram
      ? "Of your authenticator program, or a recovery code."
      : "For when you have no passkey at hand; each works once.",
    error,
    hasFocus: hasProgram,
  });

type SecretPanel = {
  /** Id of the element with the secret. */
  readonly id: string;
  readonly title: string;
  readonly secret: string;
  /** How it is stored. */
  readonly stored?: string;
  readonly about?: string | false;
  /** A first command to try it. */
  readonly example: string;
};

/** Shows a new secret, once. */
export function secretPanel(panel: SecretPanel): Html {
  const { id, title, secret, about, example } = panel;
  const { stored = "Only its hash is stored." } = panel;
  return html`<div class="secret" role="status" tabindex="-1" autofocus>
<h3>${title}</h3>
<p>Copy it now: it is shown only once. ${stored} ${about}</p>
${copied(id, html`<code id="${id}">${secret}</code>`)}
<p>Try it:</p>
${copied(`${id}-example`, html`<pre tabindex="0"><code id="${id}-example">${example}</code></pre>`)}
</div>`;
}

/** Text with a copy button, which appears when scripts are enabled. */
export const copied = (id: string, content: Html): Html =>
  html`<div class="copied">${content}<button type="button" class="plain" data-copy="${id}" hidden>Copy</button></div>`;
