import { useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { ApiError, type FieldProblem } from '../../api/errors.ts';
import { invalidate, type Query } from '../../api/query.ts';
import { Button } from '../../parts/button.tsx';
import { FormError, TextField } from '../../parts/field.tsx';
import { counted } from '../../parts/formats.ts';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { useEdited } from '../../parts/forms/use-edited.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { useUnsavedGuard } from '../../parts/forms/use-unsaved-guard.ts';
import { showToast } from '../../parts/toast.tsx';
import { addressOf, Link } from '../../shell/link.tsx';
import { type Check, type CheckType, checkPath } from '../check/model.ts';
import { AlertFields } from './alerting.tsx';
import { Assertions } from './assertions.tsx';
import { Belonging } from './belonging.tsx';
import { type CheckForm, CheckFormContext } from './check-form.ts';
import { type Draft, draftOf, listAt, updateOf, withType, withValue } from './draft.ts';
import { patternOf } from './facts.ts';
import { isShown, labelOf } from './form-fields.ts';
import { Retries } from './retries.tsx';
import { Schedule, Thresholds } from './schedule.tsx';
import { Scripts } from './scripts.tsx';
import { Section } from './section.tsx';
import { create, update } from './store-check.ts';
import { Request, Target, Variables } from './target.tsx';
import { TrialPanel } from './trial/trial-panel.tsx';
import { ManagedByFile, TypeChoice } from './type-choice.tsx';
import { LazyYaml } from './yaml/lazy-yaml.tsx';

type EditorProps =
  | {
      readonly stored: Loaded<Check>;
      readonly onReload: Query<unknown>['reload'];
      readonly onSaved: (saved: Loaded<Check>) => void;
    }
  /** A new check. */
  | { readonly stored: null; readonly initial: Draft };

/** The media query of editing.css for the YAML beside the form. */
const WIDE = '(min-width: 1240px)';

/** The form of a check, new or stored, and the YAML of the same check. */
export function Editor(props: EditorProps) {
  const { stored } = props;
  const { route } = useLocation();
  /** Whether the text beside the form is a valid check. Until then the form is disabled. */
  const [isYamlValid, setYamlValid] = useState(true);
  const edited = useEdited<Check, Draft>({
    loaded: stored,
    isHeld: !isYamlValid,
    formOf: draftOf,
    initial: props.stored === null ? props.initial : {},
    ...(props.stored === null ? {} : { reload: props.onReload }),
  });
  const { form: draft, saving } = edited;
  const [id, setId] = useState('');
  const [notifiesAll, setNotifiesAll] = useState(stored === null ? isWithoutChannels(draft) : null);
  const [isYamlOpen, openYaml] = useState(() => matchMedia(WIDE).matches);
  const isChanged = edited.isChanged || !isYamlValid || id !== '';
  useUnsavedGuard(isChanged);

  const [trialProblems, setTrialProblems] = useState<readonly FieldProblem[]>([]);
  const type = draft.checkType as CheckType;
  const problems = [...saving.problems, ...trialProblems].map(ofForm);
  const idProblem = problemOfId(saving.error, stored === null);
  const form = useMemo<CheckForm>(
    () => ({
      type,
      draft,
      problems,
      id: stored?.resource.id ?? null,
      change(path, value) {
        edited.edit((before) => withValue(before, path, value));
      },
    }),
    [draft, saving.problems, trialProblems],
  );

  const save = async (): Promise<void> => {
    setTrialProblems([]);
    const made: { check: Check | null } = { check: null };
    const isSaved = await edited.save(async (sent, etag, key) => {
      const saved =
        stored === null
          ? await create(sent, { id: id.trim(), notifiesAll: notifiesAll === true, key })
          : await update(updateOf(sent, edited.base, type), { resource: stored.resource, etag });
      made.check = saved.resource;
      if (props.stored !== null) props.onSaved(saved);
      return saved;
    });
    const { check: resource } = made;
    if (!isSaved || resource === null) return;
    invalidate((name) => name === `check ${resource.id}`);
    const warnings = resource.warnings?.length ?? 0;
    showToast({
      kind: 'pass',
      text: `${stored === null ? 'The check is created' : 'The check is saved'}${warnings === 0 ? '.' : `, with ${counted(warnings, 'warning')}.`}`,
    });
    // After the guard was removed.
    setTimeout(() => route(addressOf(checkPath(resource.id)), stored === null));
  };
  const takeYaml = (next: Draft, nextId: string): void => {
    edited.edit(() => next);
    if (stored === null) setId(nextId);
  };
  const others = problems.filter(
    ({ path }) => path !== 'path.id' && !isShown(patternOf(path.replace(/^body\./, ''))),
  );
  return (
    <CheckFormContext.Provider value={form}>
      <form
        class="editing-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <div class="editing-views">
          <Button
            aria-expanded={isYamlOpen}
            disabled={!isYamlValid}
            onClick={() => openYaml(!isYamlOpen)}
          >
            {isYamlOpen ? 'Hide the YAML' : 'Show the YAML'}
          </Button>
        </div>
        <div class={`editing-layout${isYamlOpen ? ' two' : ''}`}>
          <fieldset class="editing-plain" disabled={!isYamlValid}>
            <legend class="visually-hidden">The check</legend>
            {stored === null && (
              <Section title="Type">
                <TypeChoice
                  type={type}
                  onType={(next) => {
                    edited.edit((before) => withType(before, next));
                    saving.forget();
                  }}
                />
                <TextField
                  label="Id"
                  hint="In addresses and check files, for example shop-home. Empty: the service makes one. It never changes."
                  autocomplete="off"
                  value={id}
                  onValue={setId}
                  problem={idProblem}
                />
              </Section>
            )}
            {stored !== null && <ManagedByFile logicalId={stored.resource.logicalId ?? null} />}
            <Target />
            <Schedule />
            <Section title="Assertions">
              <div class="editing-wide">
                <Assertions />
              </div>
            </Section>
            <Request />
            <Scripts />
            <Thresholds />
            <Retries />
            <AlertFields notifiesAll={notifiesAll} onNotifiesAll={setNotifiesAll} />
            <Variables />
            <Belonging />
            <TrialPanel
              checkOf={() => (stored === null ? draft : updateOf(draft, edited.base, type))}
              checkId={stored?.resource.id ?? null}
              chosen={listAt(draft, 'privateLocations').map(String)}
              isDisabled={!isYamlValid}
              onProblems={(found) => {
                saving.forget();
                setTrialProblems(found);
              }}
            />
          </fieldset>
          {isYamlOpen && (
            <LazyYaml
              draft={draft}
              id={stored?.resource.id ?? id}
              isStored={stored !== null}
              problems={problems}
              onCheck={takeYaml}
              onValid={setYamlValid}
            />
          )}
        </div>
        <div class="editing-actions panel">
          {edited.isOutdated && (
            <Outdated
              kind="check"
              id={stored?.resource.id ?? ''}
              what="check"
              edited={edited}
              labelOf={labelOf}
            />
          )}
          {!edited.isOutdated && idProblem === null && saving.error !== null && (
            <FormError error={shownBelow(saving.error, others)} fields={[]} />
          )}
          <div class="editing-buttons">
            <Button
              kind="primary"
              type="submit"
              isBusy={saving.isBusy}
              disabled={!isYamlValid || (stored !== null && !isChanged)}
            >
              {stored === null ? 'Create the check' : 'Save'}
            </Button>
            {stored !== null && isChanged && <Button onClick={edited.undo}>Undo changes</Button>}
            <Link class="button" to={stored === null ? '/' : checkPath(stored.resource.id)}>
              Cancel
            </Link>
          </div>
        </div>
      </form>
    </CheckFormContext.Provider>
  );
}

/** A copy of a check without channels has no channels either; a new check has all, as in the API. */
function isWithoutChannels(draft: Draft): boolean {
  return draft.alertChannelSubscriptions === undefined;
}

/** Paths in errors of trials start with the check, and those of unions contain its type; paths in the form do not. */
function ofForm({ path, message }: FieldProblem): FieldProblem {
  return {
    path: path.replace(/^body\.(?:check\.)?(?:(?:URL|API|TCP|DNS|ICMP)\.)?/, 'body.'),
    message,
  };
}

function problemOfId(error: ApiError | null, isNew: boolean): string | null {
  if (error === null || !isNew) return null;
  if (error.status === 412) return 'is the id of another check: choose another one';
  return error.problems.find(({ path }) => path === 'path.id')?.message ?? null;
}

/** The error for the text below the form, without the problems that are shown at their fields. */
function shownBelow(error: ApiError, others: readonly FieldProblem[]): ApiError {
  if (error.problems.length === 0) return error;
  const message = 'Some fields are not valid: each says what is wrong.';
  return new ApiError(message, {
    kind: error.kind,
    code: error.code,
    requestId: error.requestId,
    ...(error.status === null ? {} : { status: error.status }),
    attributes: { problems: others },
  });
}
