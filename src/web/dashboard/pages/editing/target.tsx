import { CheckField, Field } from '../../parts/field.tsx';
import { useCheckForm } from './check-form.ts';
import { listAt, valueAt } from './draft.ts';
import { Choice, Code, FactField } from './fact-field.tsx';
import { authFieldsOf, factsAt } from './facts.ts';
import { labelOf, wordsOf } from './form-fields.ts';
import { Cell, Rows } from './rows.tsx';
import { Section } from './section.tsx';

/** The protocols of DNS checks with TLS. */
const ENCRYPTED: readonly unknown[] = ['DOT', 'DOH'];

/** The target of the check. The OpenAPI document decides which of these fields a type has. */
export function Target() {
  const { type, draft, problemAt } = useCheckForm();
  const protocol = valueAt(draft, 'request.protocol');
  const tls = valueAt(draft, 'request.tls') ?? 'OFF';
  /** Also shown if it is left from another choice of TLS, which the API refuses. */
  const needsStartTls =
    tls === 'STARTTLS' || (valueAt(draft, 'request.startTlsProtocol') ?? null) !== null;
  /** A field that only some protocols use. Also shown if it is set or has a problem. */
  const isUsed = (name: string, protocols: readonly unknown[]): boolean =>
    type !== 'DNS' ||
    protocols.includes(protocol) ||
    valueAt(draft, `request.${name}`) !== undefined ||
    problemAt(`request.${name}`) !== null;
  return (
    <Section title="Target">
      <div class="editing-wide">
        <FactField path="name" hint="none" />
      </div>
      {type === 'API' && <FactField path="request.method" hint="none" />}
      <div class={type === 'URL' ? 'editing-wide' : undefined}>
        <FactField path="request.url" placeholder="https://example.com/" />
      </div>
      <FactField path="request.hostname" placeholder="db.internal" />
      <FactField path="request.query" placeholder="example.com" hint="none" />
      <FactField path="request.recordType" hint="none" />
      <FactField path="request.nameServer" placeholder="10.0.0.53" />
      <FactField path="request.protocol" />
      <FactField path="request.port" />
      {isUsed('serverName', ENCRYPTED) && (
        <FactField path="request.serverName" placeholder="dns.example.com" />
      )}
      {isUsed('dohPath', ['DOH']) && <FactField path="request.dohPath" />}
      {isUsed('dohMethod', ['DOH']) && <FactField path="request.dohMethod" />}
      {(valueAt(draft, 'request.recordType') === 'SOA' || isUsed('compareSerials', [])) && (
        <FactField path="request.compareSerials" />
      )}
      <ComparedServers />
      <FactField path="request.pingCount" />
      <div class="editing-wide">
        <FactField path="request.data" rows={3} />
        <Rows
          path="request.steps"
          legend="Steps"
          one="step"
          empty={{ send: null, expect: null, format: 'TEXT' }}
          row={(at, index) => <Step at={at} index={index} />}
        />
      </div>
      <FactField path="request.tls" />
      {needsStartTls && <FactField path="request.startTlsProtocol" />}
      {tls !== 'OFF' && <Tls />}
      <FactField path="request.ipFamily" />
      <FactField path="request.followRedirects" />
      <FactField path="request.traceparent" />
      {type !== 'TCP' && isUsed('skipSSL', ENCRYPTED) && <FactField path="request.skipSSL" />}
      <FactField path="shouldFail" />
    </Section>
  );
}

/** Whose serials of a zone are compared. Also if they are left over from before. */
function ComparedServers() {
  const { draft, problemAt } = useCheckForm();
  const path = 'request.compareServers';
  const isUsed =
    valueAt(draft, 'request.compareSerials') === true ||
    listAt(draft, path).length > 0 ||
    problemAt(path) !== null;
  if (!isUsed) return null;
  return (
    <div class="editing-wide" data-field={path}>
      <Rows
        path={path}
        legend={labelOf(path)}
        one="name server"
        empty=""
        hint="Empty: the name servers of the NS records of the zone."
        row={(at, index) => <Cell path={at} index={index} placeholder="ns1.example.com" />}
      />
    </div>
  );
}

function Step({ at, index }: { readonly at: string; readonly index: number }) {
  const orNull = (text: string): string | null => (text === '' ? null : text);
  return (
    <>
      <Cell path={`${at}.send`} index={index} placeholder="Send" isWide onText={orNull} />
      <Cell path={`${at}.expect`} index={index} placeholder="Expect: pattern" onText={orNull} />
      <Cell path={`${at}.format`} index={index} />
    </>
  );
}

/** How a TCP check begins TLS, and what it accepts. */
function Tls() {
  return (
    <>
      <FactField path="request.serverName" placeholder="mail.example.com" />
      <FactField path="request.skipSSL" />
      <div class="editing-wide" data-field="request.alpnProtocols">
        <Rows
          path="request.alpnProtocols"
          legend="Application protocols (ALPN)"
          one="protocol"
          empty=""
          row={(at, index) => <Cell path={at} index={index} placeholder="imap" />}
        />
      </div>
    </>
  );
}

/** Headers, query, body and credentials of API checks. */
export function Request() {
  const { type, draft, change } = useCheckForm();
  if (factsAt(type, 'request.headers') === null) return null;
  const bodyType = valueAt(draft, 'request.bodyType') ?? 'NONE';
  const hasBody = bodyType !== 'NONE' || Boolean(valueAt(draft, 'request.body'));
  const auth = valueAt(draft, 'request.basicAuth') ?? null;
  const pairs = (path: string, legend: string, one: string) => (
    <Rows
      path={path}
      legend={legend}
      one={one}
      empty={{ key: '', value: '' }}
      row={(at, index) => (
        <>
          <Cell path={`${at}.key`} index={index} placeholder="Name" />
          <Cell path={`${at}.value`} index={index} placeholder="Value" isWide />
        </>
      )}
    />
  );
  return (
    <Section title="Request">
      <div class="editing-wide">
        {pairs('request.headers', 'Headers', 'header')}
        {pairs('request.queryParameters', 'Query parameters', 'parameter')}
      </div>
      <FactField path="request.bodyType" />
      {hasBody && (
        <div class="editing-wide">
          <FactField path="request.body" rows={6} hint="none" />
        </div>
      )}
      <div class="editing-wide">
        <CheckField
          label="Basic authentication"
          isChecked={auth !== null}
          hint={<Code text={factsAt(type, 'request.basicAuth')?.text ?? ''} />}
          onValue={(isOn) =>
            change('request.basicAuth', isOn ? { username: '', password: '' } : null)
          }
        />
      </div>
      {auth !== null && (
        <>
          <FactField path="request.basicAuth.username" />
          <FactField path="request.basicAuth.password" isPassword />
        </>
      )}
      <Authentication />
    </Section>
  );
}

/** `auth` of API checks. A change of its kind clears the fields, because they differ. */
function Authentication() {
  const { type, draft, change, problemAt } = useCheckForm();
  const auth = valueAt(draft, 'request.auth') ?? null;
  const kind = valueAt(draft, 'request.auth.type') ?? null;
  const kinds = factsAt(type, 'request.auth.type');
  if (kinds === null) return null;
  return (
    <>
      <div class="editing-wide" data-field="request.auth">
        <CheckField
          label="Digest, AWS signature or OAuth2 token"
          isChecked={auth !== null}
          hint={<Code text={factsAt(type, 'request.auth')?.text ?? ''} />}
          onValue={(isOn) => change('request.auth', isOn ? { type: kinds.values?.[0] } : null)}
        />
        {problemAt('request.auth') !== null && <p class="problem">{problemAt('request.auth')}</p>}
      </div>
      {auth !== null && (
        <div class="editing-wide" data-field="request.auth.type">
          <Field label={labelOf('request.auth.type')} problem={problemAt('request.auth.type')}>
            {(at) => (
              <Choice
                {...at}
                facts={kinds}
                value={kind}
                wordOf={wordsOf}
                onValue={(next) => change('request.auth', { type: next })}
              />
            )}
          </Field>
        </div>
      )}
      {authFieldsOf(type, kind).map(({ path, isSecret = false }) => (
        <FactField key={path} path={path} isPassword={isSecret} />
      ))}
    </>
  );
}

/** Values for the templates of the check. */
export function Variables() {
  const { draft, id } = useCheckForm();
  return (
    <Section title="Variables">
      <div class="editing-wide">
        <Rows
          path="variables"
          legend="Values for templates"
          one="variable"
          empty={{ key: '', value: '', secret: false }}
          hint={
            <>
              <code>{'{{NAME}}'}</code> in a field of the check is replaced by the value.
            </>
          }
          row={(at, index) => {
            const isSecret = valueAt(draft, `${at}.secret`) === true;
            const isStored = isSecret && valueAt(draft, `${at}.value`) === null;
            return (
              <>
                <Cell path={`${at}.key`} index={index} placeholder="NAME" />
                <Cell
                  path={`${at}.value`}
                  index={index}
                  isWide
                  isSecret={isSecret}
                  placeholder={isStored ? 'stored: stays if this is empty' : 'Value'}
                  onText={(text) => (text === '' && isSecret && id !== null ? null : text)}
                />
                <Cell path={`${at}.secret`} index={index} />
              </>
            );
          }}
        />
      </div>
    </Section>
  );
}
