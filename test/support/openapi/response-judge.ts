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
  readonly #ajv: Ajv2020;
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: OpenApiDocument) {
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
    const content = responses[answer]?.content;
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
    const validate = this.#validatorOf(operation, answer, mediaType);
    return validate(value)
      ? null
      : `is off its schema: ${this.#ajv.errorsText(validate.errors)} in ${text.slice(0, 300)}`;
  }

  #validatorOf({ path, method, name }: Operation, answer: string, type: string): ValidateFunction {
    const key = `${name} ${answer} ${type}`;
    const known = this.#validators.get(key);
    if (known !== undefined) return known;
    const steps = [
      'paths',
      path,
      method.toLowerCase(),
      'responses',
      answer,
      'content',
      type,
      'schema',
    ];
    const pointer = steps
      .map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const made = this.#ajv.compile({ $ref: `${DOCUMENT}#/${pointer}` });
    this.#validators.set(key, made);
    return made;
  }
}
