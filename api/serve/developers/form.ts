import { type Html, html } from "./html.ts";

type Field = {
  readonly name: string;
  readonly label: string;
  readonly type?: "text" | "email" | "password";
  readonly value?: string;
  readonly autocomplete: string;
  readonly hint?: string;
  /** What is wrong with it: it is told beside the field, which then has the focus. */
  readonly error?: string | undefined;
  readonly hasFocus?: boolean;
};

/** A labelled field. What is wrong is told by us in the page, so nothing here makes a browser tell it in its own way. */
export function field(options: Field): Html {
  const { name, label, type = "text", value = "", autocomplete, hint, error, hasFocus } = options;
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(" ");
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}" required${
    described !== "" && html` aria-describedby="${described}"`
  }${error && html` aria-invalid="true"`}${(error || hasFocus) && html` autofocus`}${
    type !== "text" && html` spellcheck="false" autocapitalize="none"`
  }>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${error && html`<p class="error" id="${name}-error" role="alert">${error}</p>`}
</div>`;
}

/** A message over a form, for what belongs to no single field. */
export const alert = (message: string | undefined): Html | undefined =>
  message === undefined ? undefined : html`<p class="alert" role="alert">${message}</p>`;

export const notice = (message: string | undefined): Html | undefined =>
  message === undefined ? undefined : html`<p class="notice" role="status">${message}</p>`;

/** A form of one button, for who is signed in. */
export function buttonForm(
  action: string,
  formToken: string,
  label: string,
  { kind = "plain", about }: { kind?: "plain" | "danger" | "primary"; about?: string } = {},
): Html {
  return html`<form method="post" action="${action}"><input type="hidden" name="form" value="${formToken}"><button class="${kind}">${label}${about && html`<span class="unseen"> ${about}</span>`}</button></form>`;
}

/** Something that breaks programs in use: a first press tells what it does, a second does it. */
export function sureForm(
  action: string,
  formToken: string,
  options: { label: string; about: string; warning: string; kind?: "danger" | "primary" },
): Html {
  const { label, about, warning, kind = "danger" } = options;
  return html`<details class="sure"><summary>${label}<span class="unseen"> ${about}</span></summary><div><p>${warning}</p>${buttonForm(action, formToken, label, { kind, about })}</div></details>`;
}

/** A moment, by UTC. */
export function moment(date: Date | null, otherwise = "never"): Html {
  if (date === null) return html`<span class="quiet">${otherwise}</span>`;
  const text = date.toISOString();
  return html`<time datetime="${text}">${text.slice(0, 16).replace("T", " ")}</time>`;
}
