import { render } from 'preact';
import { App } from './app.tsx';
import { watchHistory } from './parts/forms/use-unsaved-guard.ts';
import './style/index.css';

watchHistory();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
