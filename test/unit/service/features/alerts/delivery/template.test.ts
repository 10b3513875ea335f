import { describe, expect, it } from 'vitest';
import { escapeFor } from '../../../../../../src/service/features/alerts/delivery/escape.ts';
import {
  renderTemplate,
  type Variables,
} from '../../../../../../src/service/features/alerts/delivery/template.ts';

const HOSTILE = `a"b\\c\nd<e>&'f`;
const VARIABLES: Variables = {
  NAME: HOSTILE,
  TAGS: ['one', 'two "quoted"'],
  NONE: null,
  EMPTY: '',
  NO_TAGS: [],
  COUNT: 0,
  TYPE: 'ALERT_FAILURE',
};

function render(template: string, contentType = 'application/json', variables = VARIABLES): string {
  const rendered = renderTemplate(template, variables, escapeFor(contentType));
  if (!rendered.ok) throw new Error(rendered.problem);
  return rendered.text;
}

function problemOf(template: string, variables = VARIABLES): string {
  const rendered = renderTemplate(template, variables, escapeFor('application/json'));
  return rendered.ok ? `none: ${rendered.text.slice(0, 50)}` : rendered.problem;
}

describe('a template', () => {
  it('of JSON stays JSON whatever the values hold', () => {
    const text = render('{"name": "{{NAME}}", "tags": "{{TAGS}}", "n": {{COUNT}} }');
    expect(JSON.parse(text)).toEqual({ name: HOSTILE, tags: 'one, two "quoted"', n: 0 });
  });

  it('has whole JSON values by the helper', () => {
    const text = render('[{{json NAME}}, {{json TAGS}}, {{{json NONE}}}, {{json UNKNOWN}}]');
    expect(JSON.parse(text)).toEqual([HOSTILE, ['one', 'two "quoted"'], null, null]);
    expect(JSON.parse(render('{{json this}}'))).toEqual(VARIABLES);
  });

  it.each([
    ['application/vnd.api+json; charset=utf-8', JSON.stringify(HOSTILE).slice(1, -1)],
    ['text/html', 'a&quot;b\\c\nd&lt;e&gt;&amp;&#39;f'],
    ['application/atom+xml', 'a&quot;b\\c\nd&lt;e&gt;&amp;&#39;f'],
    ['text/plain', HOSTILE],
    ['nonsense', HOSTILE],
  ])('of %s escapes as that needs', (contentType, expected) => {
    expect(render('{{NAME}}', contentType)).toBe(expected);
    expect(render('{{{NAME}}}', contentType)).toBe(HOSTILE);
  });

  it('of a form is read back as it was', () => {
    const text = render('name={{NAME}}&type={{TYPE}}', 'application/x-www-form-urlencoded');
    expect(Object.fromEntries(new URLSearchParams(text))).toEqual({
      name: HOSTILE,
      type: 'ALERT_FAILURE',
    });
  });

  it('has conditions and loops', () => {
    const text = render(
      '{{#each TAGS}}{{@index}}{{this}}{{#unless @last}};{{/unless}}{{else}}none{{/each}} ' +
        '{{#each NO_TAGS}}x{{else}}none{{/each}} {{#if NONE}}x{{else if EMPTY}}y{{else}}z{{/if}} ' +
        '{{#if (eq TYPE "ALERT_FAILURE")}}down{{/if}}{{#if (eq TYPE NAME)}}same{{/if}}',
      'text/plain',
    );
    expect(text).toBe('0one;1two "quoted" none z down');
  });

  it('has nothing where a name is not known', () => {
    expect(render('<{{UNKNOWN}}{{NONE}}>')).toBe('<>');
  });

  it.each([
    '{{constructor}}',
    '{{__proto__}}',
    '{{NAME.constructor}}',
    '{{this.constructor.name}}',
    '{{toString}}',
    '{{NAME.toHTML}}',
    '{{TAGS.map}}',
    '{{#if constructor.constructor}}x{{/if}}',
    '{{@root.constructor}}',
    '{{lookup}}',
  ])('reaches nothing but the variables: %s', (template) => {
    expect(render(template)).toBe('');
  });

  it.each([
    ['{{#each TAGS}}', 'is no Handlebars template'],
    ['{{#if}}x{{/if}}', 'takes one value'],
    ['{{> partial}}', 'partials and decorators'],
    ['{{#*inline "a"}}{{> a}}{{> a}}{{/inline}}{{> a}}', 'partials and decorators'],
    ['{{#each TAGS}}{{#if this}}{{#each ../TAGS}}x{{/each}}{{/if}}{{/each}}', 'inside of another'],
    ['{{#each TAGS}}x{{else}}{{#with NAME}}x{{/with}}{{/each}}', '{{#with}} is not allowed'],
    ['{{#TAGS}}x{{/TAGS}}', '{{#TAGS}} is not allowed'],
    ['{{lookup this "constructor"}}', 'the helper lookup is not known'],
    ['{{log "x"}}', 'the helper log is not known'],
    ['{{json}}', 'json takes one value'],
    ['{{json NAME TYPE}}', 'json takes one value'],
    ['{{eq NAME}}', 'eq takes two values'],
    ['{{each}}', 'the helper each is not'],
    ['{{NAME x=1}}', 'key=value'],
    ['{"n": {{COUNT}}}', 'a space between'],
    ['{{#if (lookup this NAME)}}x{{/if}}', 'the helper lookup is not known'],
    ['{{json NAME x=1}}', 'key=value'],
    [`${'{{#if NAME}}'.repeat(20)}${'{{/if}}'.repeat(20)}`, 'nested more than'],
    [`{{json ${'(json '.repeat(20)}NAME${')'.repeat(20)}}}`, 'nested more than'],
    [`a\nb\n{{oops NAME}}`, 'line 3: the helper oops'],
  ])('is refused: %s', (template, problem) => {
    expect(problemOf(template)).toContain(problem);
  });

  it('ends soon and small whatever it asks for', () => {
    const variables = { ...VARIABLES, TAGS: Array.from({ length: 100 }, () => 'x'.repeat(255)) };
    const body = '{{this}}'.repeat(1200);
    expect(problemOf(`{{#each TAGS}}${body}{{/each}}`, variables)).toContain('longer than');
    expect(problemOf('{{TAGS}}'.repeat(1200), variables)).toContain('longer than');
  });
});
