import type { DetailField } from '../../../model/result/result-summary.ts';
import type { Analysis, EvidenceArtifact } from '../../../model/result/root-cause-analysis.ts';
import { cutText } from '../../../runtime/text/cut-text.ts';
import { shortenedToChars } from '../../../runtime/text/quoted.ts';
import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import type { AnalysisInput } from '../analysis-input.ts';
import type { AnalysisScrubber } from '../redaction/analysis-scrubber.ts';
import { failedAssertions } from '../rules/causes/assertion-causes.ts';
import { DIAGNOSTIC_HEADERS } from '../rules/response-facts.ts';
import { analyseByRules } from '../rules/rules-provider.ts';
import { analysisSubject, type HttpTargetResponse } from '../rules/subject.ts';

/** A failure as it is sent to a model. */
export interface Prompt {
  readonly check: {
    readonly type: string;
    readonly target: string;
    readonly shouldFail: boolean | null;
  };
  readonly failedAssertions: readonly {
    readonly source: string;
    readonly property: string;
    readonly comparison: string;
    readonly target: string;
    readonly actual: string | null;
  }[];
  /** The start of the answer. */
  readonly answerStart: string | null;
  readonly evidence: readonly {
    readonly description: string;
    readonly artifacts: readonly string[];
  }[];
  readonly artifacts: readonly { readonly name: string; readonly type: string }[];
  readonly analysisByRules: Pick<
    Analysis,
    'classification' | 'userImpact' | 'rootCause' | 'codeFix'
  >;
}

export interface BuiltPrompt {
  readonly prompt: Prompt;
  /** Keyed by their alias in the prompt, which hides the real names from the model. */
  readonly artifacts: ReadonlyMap<string, EvidenceArtifact>;
}

/** Maximum number of bytes of the target's response. */
const MAX_ANSWER_BYTES = 2048;
/** Added before cutting, because a secret that is cut is not recognised; no secret is longer than this. */
const CUT_MARGIN = 4096;
const MAX_SOURCE = 10_240;
const MAX_ASSERTIONS = 10;
const MAX_VALUE = 500;
const MAX_LOG_LINES = 5;
const MAX_PATH = 2000;
const MAX_RECORDS = 20;
const MAX_RECORD_CHARS = 1000;

type Detail = NonNullable<ReceivedResult[DetailField]>;

/** Builds a prompt with only the data that an analysis needs, and without secrets. */
export function buildPrompt(given: AnalysisInput, scrubber: AnalysisScrubber): BuiltPrompt {
  const input = scrubbedInput(given, scrubber);
  const { check, result } = input;
  const byRules = analyseByRules(input);
  const artifacts = aliasesOf(byRules);
  const aliasOf = new Map([...artifacts].map(([alias, { name }]) => [name, alias]));
  const { classification, userImpact, rootCause, codeFix } = byRules;
  const prompt: Prompt = {
    check: {
      type: result.checkType,
      target: analysisSubject(input).target,
      shouldFail: check?.shouldFail ?? null,
    },
    failedAssertions: failedAssertions(result)
      .slice(0, MAX_ASSERTIONS)
      .map(({ source, property, comparison, target, actual }) => ({
        source,
        property: shortenedToChars(property, MAX_VALUE),
        comparison,
        target: shortenedToChars(target, MAX_VALUE),
        actual: actual === null ? null : shortenedToChars(actual, MAX_VALUE),
      })),
    answerStart: answerStart(given.result, scrubber),
    evidence: byRules.evidence.map((one) => ({
      description: one.description,
      artifacts: one.artifacts.flatMap(({ name }) => aliasOf.get(name) ?? []),
    })),
    artifacts: [...artifacts].map(([name, { type }]) => ({ name, type })),
    analysisByRules: { classification, userImpact, rootCause, codeFix },
  };
  return { prompt: scrubber.deep(prompt), artifacts };
}

function aliasesOf({ evidence }: Analysis): ReadonlyMap<string, EvidenceArtifact> {
  const byName = new Map(
    evidence.flatMap(({ artifacts }) => artifacts.map((one) => [one.name, one] as const)),
  );
  return new Map([...byName.values()].map((one, index) => [`artifact-${index + 1}`, one]));
}

/** Masks secrets before the rules cut texts: half a secret would not be recognised. */
function scrubbedInput(
  { result, surroundings, ...rest }: AnalysisInput,
  scrubber: AnalysisScrubber,
): AnalysisInput {
  const lean = withoutBulk(result);
  const { apiCheckResult, tcpCheckResult, dnsCheckResult, icmpCheckResult } = lean;
  const detail = <T extends ArtifactNames | null>(one: T): T => {
    if (one === null) return one;
    const { jobAssets, pcapDataUrl } = one;
    return { ...scrubber.deep(one), jobAssets, pcapDataUrl };
  };
  const scrubbed = {
    ...lean,
    runLocation: scrubber.text(lean.runLocation),
    apiCheckResult: detail(apiCheckResult),
    tcpCheckResult: detail(tcpCheckResult),
    dnsCheckResult: detail(dnsCheckResult),
    icmpCheckResult: detail(icmpCheckResult),
  };
  return { ...rest, result: scrubbed, surroundings: scrubber.deep(surroundings) };
}

/** Names of artifacts, which are not sent and so not scrubbed. */
interface ArtifactNames {
  readonly jobAssets: readonly string[];
  readonly pcapDataUrl: string | null;
}

/** Removes the parts that no rule reads, because masking them would take long. */
function withoutBulk(result: ReceivedResult): ReceivedResult {
  const { apiCheckResult: http, tcpCheckResult: tcp, dnsCheckResult: dns } = result;
  return {
    ...result,
    apiCheckResult: http && {
      ...http,
      ...leanDetail(http),
      request: {
        ...http.request,
        url: originOf(http.request.url),
        data: '',
        headers: {},
        params: {},
      },
      response: http.response && leanResponse(http.response),
    },
    tcpCheckResult: tcp && {
      ...tcp,
      ...leanDetail(tcp),
      request: { ...tcp.request, data: null, steps: [] },
    },
    dnsCheckResult: dns && {
      ...dns,
      ...leanDetail(dns),
      response: dns.response && {
        ...dns.response,
        text: '',
        answer: {
          ...dns.response.answer,
          Answer: dns.response.answer.Answer.slice(0, MAX_RECORDS).filter(
            ({ data }) => data.length <= MAX_RECORD_CHARS,
          ),
        },
      },
    },
    icmpCheckResult: result.icmpCheckResult && {
      ...result.icmpCheckResult,
      ...leanDetail(result.icmpCheckResult),
    },
  };
}

function leanDetail({ assertions, jobLog }: Detail): Pick<Detail, 'assertions' | 'jobLog'> {
  return {
    assertions: assertions.filter(({ error }) => error !== null).slice(0, MAX_ASSERTIONS),
    jobLog: jobLog.filter(({ level }) => level !== 'info').slice(0, MAX_LOG_LINES),
  };
}

function leanResponse(response: HttpTargetResponse): HttpTargetResponse {
  const headers = DIAGNOSTIC_HEADERS.flatMap((name) => {
    const value = response.headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return {
    ...response,
    // Only whether there is one matters.
    body: response.body === null ? null : '…',
    headers: Object.fromEntries(headers),
    url: originOf(response.url),
    redirects: response.redirects.map(({ status, url }) => ({ status, url: withoutQuery(url) })),
  };
}

/** Drops a long path: a secret that is cut in two would not be recognised. */
function withoutQuery(url: string): string {
  if (!URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return pathname.length > MAX_PATH ? origin : `${origin}${pathname}`;
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}

function answerStart(
  { apiCheckResult: http, tcpCheckResult: tcp }: ReceivedResult,
  scrubber: AnalysisScrubber,
): string | null {
  const response = http?.response ?? null;
  const isText = response === null || response.bodyEncoding === 'text';
  const source = isText ? (response?.body ?? tcp?.response?.data ?? null) : null;
  if (source === null || source === '') return null;
  const whole = scrubber.text(source.slice(0, MAX_SOURCE));
  const wasCut = source.length > MAX_SOURCE || response?.bodyCut === true;
  const sure = wasCut ? whole.slice(0, Math.max(0, whole.length - CUT_MARGIN)) : whole;
  return cutText(sure, MAX_ANSWER_BYTES);
}
