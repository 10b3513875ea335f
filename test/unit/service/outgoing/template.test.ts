import Handlebars from 'handlebars';
import { describe, expect, it, vi } from 'vitest';
import { escapeFor } from '../../../../src/service/outgoing/escape.ts';
import {
  renderTemplate,
  type TemplateVariables,
} from '../../../../src/service/outgoing/template.ts';

const HOSTILE = `a"b\\c\nd<e>&'f`;
const VARIABLES: TemplateVariables = {
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
  it('of JSON renders valid JSON for any values', () => {
    const text = render('{"name": "{{NAME}}", "tags": "{{TAGS}}", "n": {{COUNT}} }');
    expect(JSON.parse(text)).toEqual({ name: HOSTILE, tags: 'one, two "quoted"', n: 0 });
  });

  it('renders whole JSON values by the helper json', () => {
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
  ])('of %s escapes for that type', (contentType, expected) => {
    expect(render('{{NAME}}', contentType)).toBe(expected);
    expect(render('{{{NAME}}}', contentType)).toBe(HOSTILE);
  });

  it('of a form can be decoded to the same values', () => {
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

  it('renders nothing for an unknown name', () => {
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
    ['{{#each TAGS}}', 'line 1: a tag or a block is still open after "{{#each TAGS}}"'],
    [
      '{{NAME} is down',
      'is not a Handlebars template: Parse error on line 1: wrong after "{{NAME"',
    ],
    ['{{#if NAME}}x{{/each}}', 'is not a Handlebars template: if doesn'],
    ['{{#if}}x{{/if}}', 'takes one value'],
    ['{{> partial}}', 'partials and decorators'],
    ['{{#*inline "a"}}{{> a}}{{> a}}{{/inline}}{{> a}}', 'partials and decorators'],
    ['{{#each TAGS}}{{#if this}}{{#each ../TAGS}}x{{/each}}{{/if}}{{/each}}', 'inside another'],
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
    ['{{NAME}}'.repeat(201), 'more than 200 tags ({{)'],
    ['{{'.repeat(5000), 'more than 200 tags ({{)'],
    [`{{json ${'(json '.repeat(1500)}`, 'more than 200 opening brackets'],
    [`{{${'a.'.repeat(8)}a}}`, 'a name has more than 8 parts'],
    [`{{json ${'../'.repeat(8)}a}}`, 'a name has more than 8 parts'],
    [`{{#if (eq ${'a/'.repeat(8)}a TYPE)}}x{{/if}}`, 'a name has more than 8 parts'],
  ])('is refused: %s', (template, problem) => {
    expect(problemOf(template)).toContain(problem);
  });

  it('is bounded in time and output', () => {
    const variables = { ...VARIABLES, TAGS: Array.from({ length: 100 }, () => 'x'.repeat(255)) };
    const body = '{{this}}'.repeat(190);
    expect(problemOf(`{{#each TAGS}}${body}{{/each}}`, variables)).toContain('longer than');
    expect(problemOf('{{TAGS}}'.repeat(200), variables)).toContain('longer than');
    expect(problemOf('{{{TAGS}}}'.repeat(200), variables)).toContain('longer than');
  });

  it('of 200 tags is rendered', () => {
    expect(render('{{COUNT}}'.repeat(200))).toBe('0'.repeat(200));
  });

  it('stops at the limit of its output, and escapes each text once', () => {
    let escapes = 0;
    const escaper = (text: string): string => {
      escapes += 1;
      return text;
    };
    const TAGS = Array.from({ length: 100 }, () => 'x'.repeat(255));
    const variables = { NAME: 'n'.repeat(10_000), TAGS };
    const tooLong = { ok: false, problem: expect.stringContaining('longer than') };
    expect(renderTemplate('{{NAME}}'.repeat(200), variables, escaper)).toEqual(tooLong);
    expect(escapes).toBe(1);
    const everything = '{{json this}}'.repeat(200);
    // Compiles the template first, because compiling also calls JSON.stringify.
    renderTemplate(everything, VARIABLES, escaper);
    const stringify = vi.spyOn(JSON, 'stringify');
    const json = renderTemplate(everything, variables, escaper);
    const calls = stringify.mock.calls.length;
    stringify.mockRestore();
    expect(json).toEqual(tooLong);
    // Each has more than 35,000 characters.
    expect(calls).toBeLessThanOrEqual(8);
  });

  it('is parsed once for all notices, also where it is refused', () => {
    const parse = vi.spyOn(Handlebars, 'parseWithoutProcessing');
    for (let notice = 0; notice < 10; notice += 1) {
      render(`of all notices ${'{{NAME}}'.repeat(10)}`);
      problemOf('of all notices {{> partial}}');
    }
    const calls = parse.mock.calls.length;
    parse.mockRestore();
    expect(calls).toBe(2);
  });
});
