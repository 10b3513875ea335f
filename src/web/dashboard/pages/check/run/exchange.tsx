import { bytes, counted, responseTime } from '../../../parts/formats.ts';
import { TimeText } from '../../../parts/time-text.tsx';
import type { Result, Tls } from '../model.ts';
import { Facts, Panel } from '../panel.tsx';

function sentText({ data, steps = [] }: NonNullable<Result['tcpCheckResult']>['request']): string {
  return [data, ...steps.map(({ send }) => send)].filter((text) => (text ?? '') !== '').join('\n');
}

export function Exchange({ result }: { readonly result: Result }) {
  const { apiCheckResult: http, tcpCheckResult: tcp, dnsCheckResult: dns } = result;
  const { icmpCheckResult: icmp } = result;
  if (http) return <HttpExchange detail={http} />;
  if (tcp) {
    return (
      <Panel title="Data">
        <h3>Sent</h3>
        <Text text={sentText(tcp.request)} empty="Nothing was sent." />
        <h3>Received</h3>
        <Text text={tcp.response?.data ?? ''} empty="Nothing was read." />
      </Panel>
    );
  }
  if (dns?.response) {
    return (
      <Panel title="Answer">
        <Text text={dns.response.text} empty="The answer is empty." />
      </Panel>
    );
  }
  if (icmp?.response) return <Echoes response={icmp.response} />;
  return null;
}

type Http = NonNullable<Result['apiCheckResult']>;

function HttpExchange({ detail }: { readonly detail: Http }) {
  const { request, response } = detail;
  const params = Object.entries(request.params);
  return (
    <>
      {response !== null && response.redirects.length > 0 && (
        <Panel title="Redirects">
          <ol class="check-hops">
            {response.redirects.map(({ status, url }, index) => (
              <li key={index}>
                <b>{status}</b> to <code>{url}</code>
              </li>
            ))}
            <li>
              <b>{response.status}</b> {response.statusText} from <code>{response.url}</code>
            </li>
          </ol>
        </Panel>
      )}
      {response !== null && (
        <Panel title="Response" aside={<span class="muted">{bytes(response.bodyBytes)}</span>}>
          <Headers headers={response.headers} />
          <h3>Body</h3>
          {response.bodyEncoding === 'omitted' ? (
            <p class="muted">The body is not kept.</p>
          ) : response.bodyEncoding === 'base64' ? (
            <p class="muted">The body is binary: {bytes(response.bodyBytes)}.</p>
          ) : (
            <Text text={response.body ?? ''} empty="The body is empty." />
          )}
          {response.bodyCut && <p class="check-note muted">Only the first 10 KB are shown here.</p>}
          {response.bodyTruncated && (
            <p class="check-note muted">The body is longer than the agent reads.</p>
          )}
        </Panel>
      )}
      <Panel title="Request">
        <p class="check-line">
          <b>{request.method}</b> <code>{request.url}</code>
        </p>
        {params.length > 0 && (
          <p class="check-note muted">
            with {counted(params.length, 'parameter')}:{' '}
            {params.map(([key, value]) => `${key}=${value}`).join('&')}
          </p>
        )}
        <Headers headers={request.headers} />
        {request.data !== '' && (
          <>
            <h3>Body</h3>
            <Text text={request.data} empty="" />
          </>
        )}
      </Panel>
    </>
  );
}

function Headers({
  headers,
}: {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}) {
  const all = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, one] as const),
  );
  return (
    <>
      <h3>Headers</h3>
      {all.length === 0 ? (
        <p class="muted">There are none.</p>
      ) : (
        <dl class="check-headers">
          {all.map(([name, value], index) => (
            <div key={index}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function Text({ text, empty }: { readonly text: string; readonly empty: string }) {
  if (text === '') return <p class="muted">{empty}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls
    <pre class="check-text" tabIndex={0}>
      {text}
    </pre>
  );
}

type Icmp = NonNullable<NonNullable<Result['icmpCheckResult']>['response']>;

function Echoes({ response }: { readonly response: Icmp }) {
  return (
    <Panel
      title="Echoes"
      aside={
        <span class="muted">
          {response.packetsReceived} of {response.packetsSent} came back
        </span>
      }
    >
      <table class="check-trace">
        <thead>
          <tr>
            <th scope="col" class="num">
              Echo
            </th>
            <th scope="col">Result</th>
            <th scope="col" class="num">
              Round trip
            </th>
            <th scope="col" class="num">
              TTL
            </th>
          </tr>
        </thead>
        <tbody>
          {response.pingResults.map(({ sequence, success, rtt, ttl }) => (
            <tr key={sequence}>
              <td class="num">{sequence}</td>
              <td class={success ? undefined : 'failing'}>{success ? 'reply' : 'lost'}</td>
              <td class="num">{responseTime(rtt)}</td>
              <td class="num">{ttl ?? '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

export function TlsPanel({ tls }: { readonly tls: Tls }) {
  const { certificate } = tls;
  return (
    <Panel title="TLS">
      <Facts
        facts={[
          ['Verified', tls.authorized ? 'yes' : <b class="failing">no</b>],
          tls.protocol === null ? null : ['Protocol', tls.protocol],
          tls.cipher === null ? null : ['Cipher', tls.cipher],
          tls.alpnProtocol === null ? null : ['ALPN', tls.alpnProtocol],
          ...(certificate === null
            ? []
            : ([
                ['Subject', certificate.subject],
                ['Names', certificate.subjectAltNames.join(', ')],
                ['Issuer', certificate.issuer],
                [
                  'Valid',
                  <>
                    <TimeText at={certificate.validFrom} form="date" /> to{' '}
                    <TimeText at={certificate.validTo} form="date" />,{' '}
                    {certificate.daysRemaining < 0 ? (
                      <b class="failing">expired</b>
                    ) : (
                      `${counted(certificate.daysRemaining, 'day')} left`
                    )}
                  </>,
                ],
                ['Key', `${certificate.keyType ?? ''} ${certificate.keyBits ?? ''}`.trim()],
                ['Serial number', <code>{certificate.serialNumber}</code>],
                ['SHA-256', <code>{certificate.fingerprint256}</code>],
              ] as const)),
        ]}
      />
    </Panel>
  );
}
