"""Read what a checkpoint says: `python -m training.sample --model DIR [--temperature 0.5]`."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from training.checkpoint import Checkpoint
from training.corpus import Message

# Most are worded unlike the training text, as people's questions are.
_PROMPTS = (
    "Hello",
    "hi there!",
    "hey, what's up",
    "Hello, who are you?",
    "Who are you?",
    "What can you do?",
    "what is underhill",
    "Are you ChatGPT?",
    "How do I get a smarter model?",
    "What is a mixture of experts?",
    "What is the capital of France?",
    "capital of japan?",
    "What's 7 + 5?",
    "What is 23 + 48?",
    "12*7",
    "Tom has 3 apples and buys 4 more. How many apples does he have?",
    "What is the opposite of hot?",
    "Name three fruits.",
    "Why is the sky blue?",
    "How far is the moon?",
    "Tell me a joke",
    "Tell me a story",
    "Tell me a story about a little dog named Max.",
    "Write a story about a dragon and a princess",
    "tell me a story about a penguin who wants to fly",
    "Write a short poem about the moon.",
    "write a poem about pizza",
    "I feel sad today.",
    "I'm bored",
    "What should I cook tonight?",
    "How do you say cat in Spanish?",
    "Explain quantum entanglement",
    "Write me a Python function that sorts a list",
    "Who won the world cup in 2018?",
    "Write an email to my landlord about the broken heater",
    "What do you think about politics?",
    "What is photosynthesis?",
    "Who was Albert Einstein?",
    "What is a giraffe?",
    "Is it safe to drink sea water?",
    "My sister has a cat. Do you like cats?",
    "Can you help me plan a birthday party?",
    "What's the weather like?",
    "Good morning! How are you today?",
    "Wie geht es dir?",
    "lol",
)
_CHATS = (
    (
        "Hi, my name is Clara.",
        "I like hiking.",
        "What is 6 times 7?",
        "What is my name?",
        "What do I like?",
        "Thanks, bye!",
    ),
    ("Tell me a story about a fox", "What was its name?", "Another story please", "Thank you"),
    ("What is the capital of Spain?", "And Italy?", "and germany", "Which one is the biggest?"),
    ("Tell me a joke", "Another one", "haha good one", "Are you real?", "ok bye"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    model = Checkpoint(args.model)
    for prompt in _PROMPTS:
        print(
            f"> {prompt}\n{model.answer([{'role': 'user', 'content': prompt}], temperature=args.temperature)}\n",
            flush=True,
        )
    for chat in _CHATS:
        print("-" * 20)
        messages: list[Message] = []
        for question in chat:
            messages.append({"role": "user", "content": question})
            messages.append({"role": "assistant", "content": model.answer(messages, temperature=args.temperature)})
            print(f"> {question}\n{messages[-1]['content']}", flush=True)


if __name__ == "__main__":
    main()
