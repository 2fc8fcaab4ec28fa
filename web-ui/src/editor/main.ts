// Replaces the text field of the page `Edit` by an editor for plans. Without this script the text field works alone.
//
// The text field stays in the form and has the text of the editor, so the form is submitted as without the script.

import './catalog';
import { isolateHistory } from '@codemirror/commands';
import type { EditorView } from '@codemirror/view';
import { text } from '../texts';
import { serverSchema } from './assist';
import { CheckSchedule, serverCheck, type CheckResult } from './check';
import { TextField } from './field';
import { showProblems } from './problems';
import { PlanServer } from './server';
import { Structure } from './structure';
import { minimalChange } from './text';
import { createEditor } from './view';

/** Value of a hidden field of the form; empty if it does not exist. */
function fieldValue(form: HTMLFormElement, name: string): string {
  const field = form.elements.namedItem(name);
  return field instanceof HTMLInputElement ? field.value : '';
}

/** Replaces the document, except for its common beginning and end, so that the cursor and the history remain useful. */
function replaceText(view: EditorView, plan: string): void {
  const changes = minimalChange(view.state.doc.toString(), plan.replace(/\r\n?/g, '\n'));
  if (changes) view.dispatch({ changes, annotations: isolateHistory.of('full') });
}

/** Fields of the form that all requests contain. */
const commonFields = (form: HTMLFormElement) => () => ({ token: fieldValue(form, 'token'), file: fieldValue(form, 'file') });

function scheduleChecks(form: HTMLFormElement, view: () => EditorView, showStructure: (result: CheckResult) => void): CheckSchedule | null {
  const url = form.dataset.check;
  if (!url) return null;
  const list = document.getElementById('problems');
  list?.setAttribute('aria-live', 'polite');
  const show = (result: CheckResult) => {
    showProblems(view(), list, result);
    showStructure(result);
  };
  return new CheckSchedule(() => view().state.doc.toString(), serverCheck(url, commonFields(form)), show);
}

/** Creates the tree and the form, if the page has a place for them. */
function createStructure(form: HTMLFormElement, view: EditorView, checks: CheckSchedule | null): Structure | null {
  const container = document.getElementById('structure');
  const { fields, change } = form.dataset;
  if (!container || !fields || !change || !checks) return null;
  return new Structure(container, view, checks, new PlanServer(fields, change, commonFields(form)));
}

/** Delays the submission of the form until the last change of a setting is in the text. */
function submitAfterEdits(form: HTMLFormElement, structure: Structure): void {
  form.addEventListener('submit', (event) => {
    if (!structure.isBusy()) return;
    event.preventDefault();
    const { submitter } = event;
    void structure.finishEdits().then((isApplied) => isApplied && form.requestSubmit(submitter));
  });
}

function edit(form: HTMLFormElement, field: HTMLTextAreaElement): void {
  // For browsers that do not know the media feature `scripting`.
  field.style.display = 'none';
  const language = form.dataset.language === 'xml' ? 'xml' : 'yaml';
  const checks = scheduleChecks(form, () => view, (result) => structure?.show(result));
  let structure: Structure | null = null;
  const view: EditorView = createEditor(field, {
    text: field.value,
    label: field.labels[0]?.textContent?.trim() || (field.getAttribute('aria-label') ?? text('text-label')),
    language,
    schema: form.dataset.schema && language === 'yaml' ? serverSchema(form.dataset.schema) : null,
    onChange: (changes) => {
      copy.change(view.state.doc.length);
      checks?.change();
      structure?.change(changes);
    },
    onCursor: () => structure?.moveCursor(),
  });
  structure = createStructure(form, view, checks);
  if (structure) submitAfterEdits(form, structure);
  const copy = new TextField(field, () => view.state.doc.toString(), (plan) => replaceText(view, plan));
  for (const label of field.labels) label.addEventListener('click', () => view.focus());
  form.addEventListener('brunt-text', (event) => {
    const { detail } = event as CustomEvent<unknown>;
    if (typeof detail === 'string') replaceText(view, detail);
  });
  // The browser restores the field when the user returns to the page.
  addEventListener('pageshow', () => replaceText(view, field.value));
  void checks?.check();
}

const form = document.getElementById('edit');
const field = form?.querySelector<HTMLTextAreaElement>('textarea[name=text]');
if (form instanceof HTMLFormElement && field) {
  try {
    edit(form, field);
  } catch (error) {
    field.style.display = 'block';
    throw error;
  }
}
