import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { OpenApiDocument, Operation } from './document.ts';

const DOCUMENT = 'document';

export interface Answered {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Validates responses against the document. */
export class ResponseJudge {
  readonly #document: OpenApiDocument;
  readonly #ajv: Ajv2020;
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: OpenApiDocument) {
    this.#document = document;
    this.#ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true });
    formats.default(this.#ajv);
    this.#ajv.addSchema(document as object, DOCUMENT);
  }

  /** The problem as text; null if the response is valid. */
  wrongWith(operation: Operation, { status, type, text }: Answered): string | null {
    if (status >= 500) return `is ${status}: ${text.slice(0, 300)}`;
    const { responses } = operation;
    const own = responses[String(status)];
    if (own === undefined && status < 400) return `is ${status}, which is not declared`;
    const answer = own === undefined ? 'default' : String(status);
    const shared = responses[answer]?.$ref?.replace('#/components/responses/', '');
    const { content } =
      (shared === undefined ? responses[answer] : this.#document.components.responses[shared]) ??
      {};
    if (content === undefined) return text === '' ? null : 'has a body, and none is declared';
    const [said = ''] = type.split(';', 1);
    const mediaType = '*/*' in content ? '*/*' : said;
    if (!(mediaType in content)) {
      // 204 has no schema.
      return text === '' ? null : `is ${mediaType}, which is not declared`;
    }
    const schema = content[mediaType]?.schema;
    if (schema === undefined) return null;
    const value: unknown = mediaType === 'application/json' ? JSON.parse(text) : text;
    const { path, method } = operation;
    const steps =
      shared === undefined
        ? ['paths', path, method.toLowerCase(), 'responses', answer]
        : ['components', 'responses', shared];
    const validate = this.#validatorOf([...steps, 'content', mediaType, 'schema']);
    return validate(value)
      ? null
      : `is off its schema: ${this.#ajv.errorsText(validate.errors)} in ${text.slice(0, 300)}`;
  }

  #validatorOf(steps: readonly string[]): ValidateFunction {
    const key = steps.join(' ');
    const known = this.#validators.get(key);
    if (known !== undefined) return known;
    const pointer = steps
      .map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const made = this.#ajv.compile({ $ref: `${DOCUMENT}#/${pointer}` });
    this.#validators.set(key, made);
    return made;
  }
}
