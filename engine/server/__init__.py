"""The local server: other programs on this computer ask the open models, in the words of OpenAI, Ollama and Anthropic.

Built with Starlette and uvicorn, on a thread of its own. It asks the engine by the same commands as the window does.
"""
